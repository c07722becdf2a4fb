import { importBuilt } from './import-built.mjs';
import { formatted } from './formatted.mjs';

const output = 'docs/errors.md';

/** The catalogue of error codes becomes a page for people who met one. */
export const errorPage = {
  name: 'errors',
  needsBuild: true,
  async generate({ root }) {
    const { errorCodes } = await importBuilt(root, 'packages/domain/dist/error-codes.js');
    const rows = Object.entries(errorCodes).map(
      ([code, meaning]) =>
        `| <a id="${code}"></a>\`${code}\` | ${meaning.replaceAll('|', '\\|')} |`,
    );
    const page = [
      '# Errors',
      '',
      'Every error of Holdfast has one of these codes: in the `code` of an API answer (RFC 9457),',
      'in the error of an execution, and in the logs. Codes are stable; sentences may change.',
      '',
      'This page is made from `packages/domain/src/error-codes.ts` by `npm run generate`.',
      '',
      '| code | meaning |',
      '| --- | --- |',
      ...rows,
    ];
    return [await formatted(root, { path: output, text: page.join('\n') })];
  },
};

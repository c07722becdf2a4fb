import { importBuilt } from './import-built.mjs';
import { formatted } from './formatted.mjs';

const output = 'packages/contract/openapi.json';

/** The table of routes becomes the OpenAPI document, for generators of clients and for reviews. */
export const openapi = {
  name: 'openapi',
  needsBuild: true,
  async generate({ root }) {
    const { createOpenApiDocument } = await importBuilt(root, 'packages/contract/dist/openapi.js');
    const text = JSON.stringify(createOpenApiDocument());
    return [await formatted(root, { path: output, text })];
  },
};

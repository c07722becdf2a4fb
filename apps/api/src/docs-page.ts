import { routes } from '@holdfast/contract';
import type { Route } from '@holdfast/contract';
import { errorCodes } from '@holdfast/domain';

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema?: unknown }>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: unknown;
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema?: unknown }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** The contract as one page of plain HTML: it needs no script and nothing from elsewhere. */
export function renderDocsPage(openApi: object): string {
  // Made from our own table of routes by the OpenAPI library.
  const document = openApi as Document;
  const tags = [...new Set(Object.values<Route>(routes).map(({ tag }) => tag))];
  const schemas = Object.entries(document.components.schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  return page(
    'Holdfast API',
    [
      '<h1>Holdfast API</h1>',
      '<p>Also as <a href="/openapi.json">OpenAPI 3.1</a>. Errors are <a href="/docs/errors">problem details</a>.</p>',
      `<nav>${tags.map((tag) => `<a href="#${slug(tag)}">${escape(tag)}</a>`).join(' ')} <a href="#schemas">Schemas</a></nav>`,
      ...tags.map((tag) => renderTag(document, tag)),
      '<h2 id="schemas">Schemas</h2>',
      ...schemas.map(
        ([name, schema]) =>
          `<details id="schema-${escape(name)}"><summary><code>${escape(name)}</code></summary>${renderSchema(schema)}</details>`,
      ),
    ].join('\n'),
  );
}

/** The catalogue of error codes as a page, to which the `type` of each problem points. */
export function renderErrorsPage(): string {
  const rows = Object.entries(errorCodes).map(
    ([code, text]) =>
      `<tr id="${escape(code)}"><td><code>${escape(code)}</code></td><td>${escape(text)}</td></tr>`,
  );
  return page(
    'Errors of Holdfast',
    `<h1>Error codes</h1><p><a href="/docs">API</a></p><table>${rows.join('\n')}</table>`,
  );
}

function renderTag(document: Document, tag: string): string {
  const operations = Object.values<Route>(routes).filter((route) => route.tag === tag);
  const parts = operations.map((route) => {
    const operation = document.paths[route.path]?.[route.method];
    return operation === undefined ? '' : renderOperation(route, operation);
  });
  return `<h2 id="${slug(tag)}">${escape(tag)}</h2>\n${parts.join('\n')}`;
}

function renderOperation(route: Route, operation: Operation): string {
  const body = Object.entries(operation.requestBody?.content ?? {});
  const answers = Object.entries(operation.responses).filter(([status]) => status !== 'default');
  return [
    `<details><summary><b class="${route.method}">${route.method.toUpperCase()}</b> `,
    `<code>${escape(route.path)}</code> ${escape(route.summary)}</summary>`,
    `<p>${escape(operation.description ?? '')}</p>`,
    renderParameters(operation.parameters ?? []),
    ...body.map(([type, { schema }]) => `<h4>Body: ${escape(type)}</h4>${renderSchema(schema)}`),
    ...answers.map(([status, { content }]) =>
      Object.entries(content ?? { 'no content': {} })
        .map(
          ([type, media]) =>
            `<h4>${escape(status)}: ${escape(type)}</h4>${renderSchema('schema' in media ? media.schema : undefined)}`,
        )
        .join(''),
    ),
    '</details>',
  ].join('');
}

function renderParameters(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(
    ({ name, in: place, required, schema }) =>
      `<tr><td><code>${escape(name)}</code></td><td>${escape(place)}${required === true ? ', required' : ''}</td><td><code>${escape(JSON.stringify(schema ?? {}))}</code></td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

function renderSchema(schema: unknown): string {
  if (schema === undefined) return '';
  const text = escape(JSON.stringify(schema, null, 2));
  const linked = text.replace(
    /#\/components\/schemas\/(\w+)/g,
    (_, name: string) => `<a href="#schema-${name}">${name}</a>`,
  );
  return `<pre>${linked}</pre>`;
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escape(title)}</title><meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="/docs/style.css"></head>
<body><main>
${content}
</main></body></html>
`;
}

/** The style of the pages. */
export const docsStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 1rem; }
nav a { margin-right: 0.75rem; }
details { border-bottom: 1px solid #8884; padding: 0.4rem 0; }
summary { cursor: pointer; }
summary b { display: inline-block; min-width: 4.5rem; }
pre { overflow-x: auto; padding: 0.75rem; background: #8881; font-size: 0.85rem; }
table { border-collapse: collapse; }
td { border-bottom: 1px solid #8883; padding: 0.25rem 0.75rem 0.25rem 0; vertical-align: top; }
:target { outline: 2px solid Highlight; }
`;

function slug(tag: string): string {
  return tag.toLowerCase().replaceAll(' ', '-');
}

function escape(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

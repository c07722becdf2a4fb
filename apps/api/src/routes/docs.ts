import { createOpenApiDocument } from '@holdfast/contract/openapi';
import type { Express } from 'express';
import { docsStyle, renderDocsPage, renderErrorsPage } from '../docs-page.ts';

/** The contract for people, at `/docs`. */
export function registerDocs(app: Express): void {
  const docs = renderDocsPage(createOpenApiDocument());
  const errors = renderErrorsPage();
  app.get('/docs', (_request, response) => {
    response.type('html').send(docs);
  });
  app.get('/docs/errors', (_request, response) => {
    response.type('html').send(errors);
  });
  app.get('/docs/style.css', (_request, response) => {
    response.type('css').send(docsStyle);
  });
}

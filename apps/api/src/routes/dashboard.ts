import { join } from 'node:path';
import compression from 'compression';
import express from 'express';
import type { Express, RequestHandler } from 'express';

const yearSeconds = 31_536_000;

/** The built dashboard: its files, and its page for every path that is not the API's. */
export function registerDashboard(app: Express, webRoot: string): void {
  app.use(compression());
  app.use(
    '/assets',
    express.static(join(webRoot, 'assets'), {
      // Their names carry a hash of their content.
      immutable: true,
      maxAge: yearSeconds * 1_000,
      index: false,
      fallthrough: true,
    }),
  );
  app.use(express.static(webRoot, { index: false, setHeaders: revalidate }));
  app.get(/^\/(?!(?:api|assets|docs)(?:\/|$))/, sendPage(webRoot));
}

function sendPage(webRoot: string): RequestHandler {
  return (request, response, next) => {
    if (request.accepts('html') === false) {
      next();
      return;
    }
    response.sendFile('index.html', { root: webRoot, headers: { 'cache-control': 'no-cache' } });
  };
}

function revalidate(response: { setHeader(name: string, value: string): unknown }): void {
  response.setHeader('cache-control', 'no-cache');
}

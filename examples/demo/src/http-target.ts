import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Service } from '@holdfast/runtime';

const slowAnswerMs = 1_500;

type Answer = (response: ServerResponse, request: IncomingMessage) => Promise<void> | void;

const answers: Readonly<Record<string, Answer>> = {
  '/fast': (response) => {
    send(response, { status: 200, body: { ok: true } });
  },
  '/slow': async (response) => {
    await sleep(slowAnswerMs, undefined, { ref: false });
    send(response, { status: 200, body: { ok: true, tookMs: slowAnswerMs } });
  },
  '/shaky': (response, request) => {
    const isFirstAttempt = request.headers['holdfast-attempt'] === '1';
    send(
      response,
      isFirstAttempt
        ? { status: 500, body: { error: 'the first attempt always fails here' } }
        : { status: 200, body: { ok: true } },
    );
  },
  '/busy': (response, request) => {
    const isFirstAttempt = request.headers['holdfast-attempt'] === '1';
    if (isFirstAttempt) response.setHeader('retry-after', '1');
    send(response, { status: isFirstAttempt ? 503 : 200, body: { busy: isFirstAttempt } });
  },
};

/**
 * Somebody else's web service, as HTTP jobs meet them: `/fast` answers at once, `/slow` takes its time, `/shaky`
 * fails the first attempt of a job, `/busy` asks to come back in a second, and any other path is 404.
 */
export function createHttpTarget(port: number): Service {
  let server: Server | undefined;
  return {
    name: 'http-target',
    start: () =>
      new Promise((resolve, reject) => {
        server = createServer(answer).once('error', reject).listen(port, '127.0.0.1', resolve);
      }),
    stop: () =>
      new Promise((resolve) => {
        if (server === undefined) resolve();
        server?.close(() => {
          resolve();
        });
        server?.closeAllConnections();
      }),
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const respond = answers[new URL(request.url ?? '/', 'http://target').pathname] ?? notFound;
  void respond(response, request);
}

const notFound: Answer = (response) => {
  send(response, { status: 404, body: { error: 'nothing here' } });
};

function send(
  response: ServerResponse,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

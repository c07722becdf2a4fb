/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  /** What to give as `Last-Event-ID` to go on behind it. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

interface Draft {
  id: string;
  event: string;
  data: string[];
}

/**
 * Reads a stream of server-sent events, as the HTML standard says. Ends when the stream does, and ends the stream when the
 * reader stops early.
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const draft: Draft = { id: '', event: '', data: [] };
  for await (const line of readLines(body)) {
    if (line !== '') takeField(draft, line);
    else if (draft.data.length > 0) {
      yield { id: draft.id, event: draft.event || 'message', data: draft.data.join('\n') };
      Object.assign(draft, { event: '', data: [] });
    }
  }
}

function takeField(draft: Draft, line: string): void {
  const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
  if (name === 'data') draft.data.push(value);
  else if (name === 'event') draft.event = value;
  else if (name === 'id') draft.id = value;
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

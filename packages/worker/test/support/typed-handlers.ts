/** A handler in TypeScript, as it is before it is compiled. */
// @ts-expect-error -- a user's own compiler may take what this repository does without
enum Greeting {
  Hello = 'hello',
}

export const handlers = {
  typed: (payload: { readonly to: string }) => [Greeting.Hello, payload.to],
};

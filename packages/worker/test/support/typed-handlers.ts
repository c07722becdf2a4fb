/** A handler in TypeScript, as it is before it is compiled. */
enum Greeting {
  Hello = 'hello',
}

export const handlers = {
  typed: (payload: { readonly to: string }) => [Greeting.Hello, payload.to],
};

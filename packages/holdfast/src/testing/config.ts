/** The server that tests use when they name none; `undefined`: an embedded one. */
export function givenServer(): string | undefined {
  const url = process.env['HOLDFAST_TEST_DATABASE_URL'];
  return url === '' ? undefined : url;
}

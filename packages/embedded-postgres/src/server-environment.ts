/**
 * The environment of the server's programs. They need nothing of the caller's, except that no
 * program starts on Windows without SystemRoot.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' };
  // eslint-disable-next-line no-restricted-syntax -- a fact of the platform, not a setting of ours
  if (process.platform === 'win32') environment['SystemRoot'] = process.env['SystemRoot'];
  return environment;
}

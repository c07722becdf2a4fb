const required = { major: 20, minor: 19 };

/** Ends the process with one sentence when this Node is too old to run the project. */
export function requireNodeVersion() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const isNewEnough =
    major > required.major || (major === required.major && minor >= required.minor);
  if (isNewEnough) return;
  console.error(
    `Holdfast needs Node ${required.major}.${required.minor} or newer, and this is Node ${process.versions.node}. ` +
      'Get a newer one from https://nodejs.org or from your version manager.',
  );
  process.exit(1);
}

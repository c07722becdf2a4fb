/** Whether a notice says that the wait for the synchronous standby was given up: the commit is there, but only here. */
export function isUnconfirmedCommit(notice: { readonly message?: string | undefined }): boolean {
  return /synchronous replication/i.test(notice.message ?? '');
}

/** The error that such a notice becomes: transient, with an unknown outcome. */
export function unconfirmedCommitError(): Error {
  const message = 'The synchronous standby did not confirm the commit; its outcome is unknown';
  return Object.assign(new Error(message), { code: '08007' });
}

/** A batch of jobs, a chain in which each waits for the one before, or a graph in which each may wait for any others. */
export const batchKinds = ['batch', 'chain', 'graph'] as const;

/** What puts jobs together. */
export type BatchKind = (typeof batchKinds)[number];

/** `running` until every member has ended; then how. */
export const batchStatuses = ['running', 'completed', 'dead_letter', 'cancelled'] as const;

/** How a batch stands, or ended. */
export type BatchStatus = (typeof batchStatuses)[number];

/** The moments at which a batch makes a job. */
export const callbackRoles = ['progress', 'catch', 'then', 'finally'] as const;

/** When a batch makes a callback's job. */
export type CallbackRole = (typeof callbackRoles)[number];

/** The child is cancelled, runs all the same, or waits until the parent is replayed. */
export const parentFailurePolicies = ['cancel', 'run', 'wait'] as const;

/** What becomes of a job when a parent ends otherwise than completed. */
export type OnParentFailure = (typeof parentFailurePolicies)[number];

/** What a job may have, however it is enqueued. Sizes are bytes of JSON in UTF-8. */
export const jobLimits = {
  /** Of a payload, unless a larger limit is set. */
  payloadBytes: 262_144,
  /** Of a payload, whatever is set. */
  hardPayloadBytes: 1_048_576,
  metadataBytes: 8_192,
  jsonDepth: 64,
  jsonKeys: 10_000,
  tagCount: 20,
  /** Of a payload: the highest version of its shape. */
  payloadVersion: 32_767,
  maxAttempts: 100,
  timeoutMs: 86_400_000,
  /** 0 is first. */
  lastPriority: 9,
  /** Of a unique key, in bytes of UTF-8. */
  uniqueKeyBytes: 512,
} as const;

/** What a job gets that says nothing itself, and whose queue says nothing. */
export const jobDefaults = { priority: 5, maxAttempts: 5, timeoutMs: 300_000 } as const;

/** The characters of a name; see {@link isName} for the two names that are none. */
export const nameForm = /^[A-Za-z0-9._:-]{1,128}$/;

/** 1 to 64 characters, none of them a control character or a lone surrogate. */
export const tagForm = /^\P{C}{1,64}$/u;

/** Whether the text can name a queue, a job type, a schedule or a project: a name is safe in URLs, paths and logs. */
export function isName(text: string): boolean {
  return nameForm.test(text) && text !== '.' && text !== '..';
}

/** Whether the text can be a tag. */
export function isTag(text: string): boolean {
  return tagForm.test(text);
}

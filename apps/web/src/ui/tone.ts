/** What a colour says. Each tone has a text colour `--hf-<tone>` and a tinted background `--hf-<tone>-tint`. */
export const tones = ['ok', 'busy', 'held', 'wait', 'later', 'warn', 'bad', 'off'] as const;

/** One of the eight tones. */
export type Tone = (typeof tones)[number];

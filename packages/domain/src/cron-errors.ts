import { HoldfastError } from './errors.ts';

/** The cron expression or interval is not one that is accepted; the message says which part and why. */
export class CronInvalidError extends HoldfastError {
  constructor(message: string) {
    super(message, { code: 'cron_invalid' });
  }
}

/** The time zone is not an IANA zone name. */
export class TimezoneInvalidError extends HoldfastError {
  constructor(message: string) {
    super(message, { code: 'timezone_invalid' });
  }
}

import { useQuery } from '@tanstack/react-query';
import { describeError } from '../../api/describe-error.ts';
import { scheduleQueries } from '../../api/schedules.ts';
import type { PreviewRequest } from '../../api/schedules.ts';
import { describeCron } from '../../format/cron.ts';
import { formatInZone, formatMinute, viewerTimeZone } from '../../format/time.ts';
import classes from './schedules.module.css';

/** The expression in words, and the next times in the schedule's zone and the viewer's. */
export function SchedulePreview({ cron, timezone }: PreviewRequest) {
  const preview = useQuery({
    ...scheduleQueries.preview({ cron, timezone }),
    enabled: cron !== '',
  });
  const elsewhere = timezone !== viewerTimeZone();
  return (
    <div className={classes['preview']} aria-live="polite">
      {preview.data !== undefined ? (
        <>
          <strong>{describeCron(cron) ?? cron}</strong>
          <ol>
            {preview.data.data.map((instant) => (
              <li key={instant.at}>
                {formatInZone(instant.at, timezone)}
                {elsewhere ? ` – here ${formatMinute(instant.at)}` : ''}
                {instant.dstChange ? (
                  <span className={classes['dst']}>clocks change on this day</span>
                ) : null}
              </li>
            ))}
          </ol>
        </>
      ) : preview.isError ? (
        describeError(preview.error).detail
      ) : (
        'The next times appear here.'
      )}
    </div>
  );
}

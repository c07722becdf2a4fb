import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { scheduleQueries } from '../../api/schedules.ts';
import { describeRhythm } from '../../format/cron.ts';
import { Panel } from '../../ui/panel.tsx';
import { Time } from '../../ui/time.tsx';
import classes from './next-fires-panel.module.css';

const shown = 5;

/** The schedules that fire next. Nothing while there is none. */
export function NextFiresPanel() {
  const schedules = useQuery(scheduleQueries.list());
  const coming = (schedules.data?.data ?? [])
    .flatMap(({ id, name, cron, every, nextFireAt, paused }) =>
      nextFireAt === null || paused !== null
        ? []
        : [{ id, name, nextFireAt, rhythm: describeRhythm({ cron, every }) }],
    )
    .sort((one, other) => one.nextFireAt.localeCompare(other.nextFireAt))
    .slice(0, shown);
  if (coming.length === 0) return null;
  return (
    <Panel title="Next fires" actions={<Link to="/schedules">All schedules</Link>}>
      <ul className={classes['list']}>
        {coming.map((schedule) => (
          <li key={schedule.id}>
            <Link to="/schedules" search={{ history: schedule.id }} title={schedule.rhythm}>
              {schedule.name}
            </Link>
            <Time at={schedule.nextFireAt} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

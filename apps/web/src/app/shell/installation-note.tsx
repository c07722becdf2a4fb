import { useQuery } from '@tanstack/react-query';
import { statusQueries } from '../../api/status.ts';
import classes from './installation-note.module.css';

/** Versions, at the foot of the navigation. */
export function InstallationNote() {
  const status = useQuery(statusQueries.status());
  if (status.data === undefined) return null;
  const { version, database } = status.data;
  return (
    <p className={classes['note']}>
      Holdfast {version}
      <br />
      PostgreSQL {database.version}
      {database.durable ? null : <span className={classes['warning']}>Not durable</span>}
    </p>
  );
}

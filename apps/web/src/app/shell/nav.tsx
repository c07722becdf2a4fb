import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { statsQueries } from '../../api/stats.ts';
import { formatCount } from '../../format/number.ts';
import { Icon } from '../../ui/icon.tsx';
import classes from './nav.module.css';
import { pages } from './pages.ts';

/** The links to the pages, with the number of dead letters beside theirs. */
export function Nav({ onNavigate }: { readonly onNavigate?: () => void }) {
  const overview = useQuery(statsQueries.overview());
  const deadLetters = overview.data?.counts.deadLetter ?? 0;
  return (
    <nav aria-label="Pages" className={classes['nav']}>
      {pages.map((page) => (
        <Link
          key={page.to}
          to={page.to}
          className={classes['link']}
          activeOptions={{ exact: page.to === '/', includeSearch: false }}
          onClick={onNavigate}
        >
          <Icon name={page.icon} size={17} />
          <span className={classes['label']}>{page.label}</span>
          {page.to === '/dead-letters' && deadLetters > 0 ? (
            <span className={classes['count']} title="Dead letters">
              {formatCount(deadLetters)}
            </span>
          ) : null}
        </Link>
      ))}
    </nav>
  );
}

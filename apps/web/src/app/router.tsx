import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { QueryClient } from '@tanstack/react-query';
import { refreshSession, sessionState } from '../api/session.ts';
import { readDeadLettersSearch } from '../features/dead-letters/dead-letters-search.ts';
import { readJobSearch } from '../features/job/job-search.ts';
import { readJobsSearch } from '../features/jobs/jobs-search.ts';
import { readOverviewSearch } from '../features/overview/overview-search.ts';
import { readQueuesSearch } from '../features/queues/queues-search.ts';
import { readSchedulesSearch } from '../features/schedules/schedules-search.ts';
import { readSignInSearch } from '../features/sign-in/sign-in-search.ts';
import { NotFoundPage, RouteErrorPage } from './route-states.tsx';
import { parseSearch, stringifySearch } from './search-codec.ts';
import { Shell } from './shell/shell.tsx';

/** What every route may use. */
export interface RouterContext {
  readonly queryClient: QueryClient;
}

const rootRoute = createRootRouteWithContext<RouterContext>()({ notFoundComponent: NotFoundPage });

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: readSignInSearch,
  component: lazyRouteComponent(() => import('../features/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location }) => {
    if (sessionState().status === 'unknown') await refreshSession();
    const session = sessionState();
    if (session.status === 'signed_in' && !session.user.passwordChangeRequired) return;
    const back = location.href === '/' ? {} : { back: location.href };
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the router's way to leave a route
    throw redirect({ to: '/sign-in', search: back, replace: true });
  },
});

const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: readOverviewSearch,
  component: lazyRouteComponent(
    () => import('../features/overview/overview-page.tsx'),
    'OverviewPage',
  ),
});

const jobsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/jobs',
  validateSearch: readJobsSearch,
  component: lazyRouteComponent(() => import('../features/jobs/jobs-page.tsx'), 'JobsPage'),
});

const jobRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/jobs/$jobId',
  validateSearch: readJobSearch,
  component: lazyRouteComponent(() => import('../features/job/job-page.tsx'), 'JobPage'),
});

const queuesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/queues',
  validateSearch: readQueuesSearch,
  component: lazyRouteComponent(() => import('../features/queues/queues-page.tsx'), 'QueuesPage'),
});

const deadLettersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dead-letters',
  validateSearch: readDeadLettersSearch,
  component: lazyRouteComponent(
    () => import('../features/dead-letters/dead-letters-page.tsx'),
    'DeadLettersPage',
  ),
});

const schedulesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/schedules',
  validateSearch: readSchedulesSearch,
  component: lazyRouteComponent(
    () => import('../features/schedules/schedules-page.tsx'),
    'SchedulesPage',
  ),
});

const workersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/workers',
  component: lazyRouteComponent(
    () => import('../features/workers/workers-page.tsx'),
    'WorkersPage',
  ),
});

const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  component: lazyRouteComponent(
    () => import('../features/settings/settings-page.tsx'),
    'SettingsPage',
  ),
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  shellRoute.addChildren([
    overviewRoute,
    jobsRoute,
    jobRoute,
    queuesRoute,
    deadLettersRoute,
    schedulesRoute,
    workersRoute,
    settingsRoute,
  ]),
]);

/** Makes the router of the dashboard. */
export function makeRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    parseSearch,
    stringifySearch,
    scrollRestoration: true,
    defaultPreload: 'intent',
    defaultErrorComponent: RouteErrorPage,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}

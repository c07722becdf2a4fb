import type { RouteName } from '@holdfast/contract';
import { listSubscriptions, subscribe, unsubscribe } from '@holdfast/database';
import type { EventSubscription } from '@holdfast/database';
import type { Dependencies } from '../dependencies.ts';
import type { Handlers } from '../http/call.ts';
import { once } from '../http/idempotency.ts';
import { pageOf } from '../http/page.ts';
import { HttpProblem } from '../http/problem.ts';
import { templateOf } from '../job-template.ts';
import { presentSubscription } from '../presenters/event.ts';

type SubscriptionRoute = Extract<
  RouteName,
  'listEventSubscriptions' | 'subscribeEvent' | 'unsubscribeEvent'
>;

/** Who wants to hear of which events. */
export function eventSubscriptionHandlers(deps: Dependencies): Handlers<SubscriptionRoute> {
  const { database, cursors, notifier } = deps;
  return {
    async listEventSubscriptions({ project, query }) {
      const scope = { list: 'event-subscriptions', projectId: project.id };
      const [after] = cursors.read(scope, query.cursor) ?? [];
      const { limit } = query;
      const page = { projectId: project.id, after, limit: limit + 1 };
      const subscriptions = await listSubscriptions(database, page);
      const position = ({ id }: EventSubscription) => cursors.write(scope, [id]);
      return { body: pageOf(subscriptions, limit, { present: presentSubscription, position }) };
    },

    async subscribeEvent(call) {
      const { event, job } = call.body;
      const { status, headers, body } = await once(database, call, async (tx) => {
        const subscription = await subscribe(tx, {
          projectId: call.project.id,
          event,
          job: job === undefined ? undefined : templateOf(job),
        });
        return { status: 201, body: presentSubscription(subscription) };
      });
      notifier.wakeDispatchers();
      return { status, headers: headers ?? {}, body };
    },

    async unsubscribeEvent({ project, params }) {
      const isEnded = await unsubscribe(database, { projectId: project.id, id: params.id });
      if (!isEnded) throw new HttpProblem('event_subscription_not_found');
      return { body: undefined };
    },
  };
}

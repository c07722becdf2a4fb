import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import './app/theme.css';
import './app/global.css';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { onSessionChange, redeemTicket, sessionState } from './api/session.ts';
import { Providers } from './app/providers.tsx';
import { makeQueryClient } from './app/query-client.ts';
import { makeRouter } from './app/router.tsx';
import { takeTicket } from './app/take-ticket.ts';

async function start(): Promise<void> {
  const ticket = takeTicket();
  // A used or old ticket is no error here: the sign-in page follows, and says so.
  const ticketRefused =
    ticket === undefined
      ? false
      : await redeemTicket(ticket).then(
          () => false,
          () => true,
        );

  const queryClient = makeQueryClient();
  const router = makeRouter(queryClient);
  onSessionChange(() => {
    if (sessionState().status !== 'signed_out') return;
    queryClient.clear();
    void router.invalidate();
  });
  if (ticketRefused) await router.navigate({ to: '/sign-in', search: { link: 'refused' } });

  const root = document.getElementById('root');
  if (root === null) throw new Error('The page has no element with the id "root"');
  createRoot(root).render(
    <StrictMode>
      <Providers queryClient={queryClient}>
        <RouterProvider router={router} />
      </Providers>
    </StrictMode>,
  );
}

void start();

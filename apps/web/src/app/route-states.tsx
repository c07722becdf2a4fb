import { useRouter } from '@tanstack/react-router';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { LinkButton } from '../ui/link-button.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';

/** An address that leads nowhere. */
export function NotFoundPage() {
  return (
    <EmptyState
      icon="help"
      title="There is no such page"
      action={<LinkButton to="/">Go to the overview</LinkButton>}
    >
      The link may be old, or the address mistyped.
    </EmptyState>
  );
}

/** A page that could not be loaded or drawn. */
export function RouteErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <ErrorState
      error={error}
      onRetry={() => {
        reset();
        void router.invalidate();
      }}
    />
  );
}

import { Component } from 'react';
import type { ReactNode } from 'react';

interface FallbackBoundaryProps {
  readonly fallback: ReactNode;
  readonly children: ReactNode;
}

interface FallbackBoundaryState {
  readonly failed: boolean;
}

/** Shows something simpler in the place of a part that cannot be loaded or drawn, so that the page stays whole. */
export class FallbackBoundary extends Component<FallbackBoundaryProps, FallbackBoundaryState> {
  override state: FallbackBoundaryState = { failed: false };

  static getDerivedStateFromError(): FallbackBoundaryState {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}

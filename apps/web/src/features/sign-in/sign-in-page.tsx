import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useSession } from '../../api/session.ts';
import { BrandMark } from '../../ui/brand-mark.tsx';
import { PasswordForm } from './password-form.tsx';
import { SignInForm } from './sign-in-form.tsx';
import classes from './sign-in-page.module.css';

const route = getRouteApi('/sign-in');

/** Sign-in by password, and the change of a first password that somebody else chose. */
export function SignInPage() {
  const { back, link } = route.useSearch();
  const session = useSession();
  const navigate = useNavigate();
  const signedIn = session.status === 'signed_in';
  const mustChange = signedIn && session.user.passwordChangeRequired;
  const done = signedIn && !mustChange;

  useEffect(() => {
    document.title = 'Sign in · Holdfast';
  }, []);

  useEffect(() => {
    if (done) void navigate({ href: back ?? '/', replace: true });
  }, [done, back, navigate]);

  return (
    <main className={classes['page']}>
      <div className={classes['card']}>
        <div className={classes['brand']}>
          <BrandMark size={36} />
          <h1>{mustChange ? 'Choose your own password' : 'Sign in to Holdfast'}</h1>
        </div>
        {link === 'refused' && !signedIn ? (
          <p className={classes['note']} role="status">
            This sign-in link was used already, or is too old. Sign in with your password, or start
            Holdfast again for a new link.
          </p>
        ) : null}
        {mustChange ? <PasswordForm email={session.user.email} /> : <SignInForm />}
      </div>
    </main>
  );
}

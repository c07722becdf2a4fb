import { Page } from '../../ui/page.tsx';
import { ApiKeysPanel } from './api-keys-panel.tsx';
import { InstallationPanel } from './installation-panel.tsx';
import { PasswordPanel } from './password-panel.tsx';
import classes from './settings.module.css';

/** Keys for machines, the own password, and what this installation runs on. */
export function SettingsPage() {
  return (
    <Page title="Settings">
      <ApiKeysPanel />
      <div className={classes['columns']}>
        <InstallationPanel />
        <PasswordPanel />
      </div>
    </Page>
  );
}

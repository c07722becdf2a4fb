import { Modal } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useBlocked } from '../../api/access.ts';
import { present } from '../../format/search-params.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { Page } from '../../ui/page.tsx';
import { CreateJobForm } from './create-job-form.tsx';
import { JobFilters } from './job-filters.tsx';
import { JobList } from './job-list.tsx';
import type { JobsSearchChange } from './jobs-search.ts';
import { StatusFilter } from './status-filter.tsx';

const route = getRouteApi('/shell/jobs');

/** Jobs by filter, newest first. The address holds every filter. */
export function JobsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const blocked = useBlocked('job.enqueue');
  const { dialog, ...filters } = search;

  const apply = (change: JobsSearchChange) =>
    void navigate({ search: present({ ...filters, cursor: undefined, ...change }) });
  const openCreate = () => void navigate({ search: { ...search, dialog: 'create' } });
  const closeCreate = () => void navigate({ search: filters, replace: true });

  return (
    <Page
      title="Jobs"
      actions={
        <ActionButton
          label="Create job"
          icon="plus"
          look="primary"
          blockedBecause={blocked}
          onClick={openCreate}
        />
      }
    >
      <StatusFilter
        selected={search.status ?? []}
        onChange={(status) => {
          apply({ status });
        }}
      />
      <JobFilters search={search} onApply={apply} onClear={() => void navigate({ search: {} })} />
      <JobList key={JSON.stringify(filters)} search={filters} onCreate={openCreate} />
      <Modal opened={dialog === 'create'} onClose={closeCreate} title="Create a job" size="lg">
        <CreateJobForm queue={search.queue} onClose={closeCreate} />
      </Modal>
    </Page>
  );
}

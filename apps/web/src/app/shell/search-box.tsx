import { Kbd, UnstyledButton } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Icon } from '../../ui/icon.tsx';
import classes from './search-box.module.css';

const jobId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const paletteKeys = /mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';

/** The id by which the shortcut finds the field. */
export const searchFieldId = 'job-search';

/** Finds a job by its id, or jobs by a text in their payload. */
export function SearchBox({ onOpenPalette }: { readonly onOpenPalette: () => void }) {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const submit = () => {
    const wanted = text.trim();
    if (wanted === '') return;
    setText('');
    void (jobId.test(wanted)
      ? navigate({ to: '/jobs/$jobId', params: { jobId: wanted.toLowerCase() } })
      : navigate({ to: '/jobs', search: { text: wanted } }));
  };
  return (
    <form
      role="search"
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Icon name="search" size={15} />
      <input
        id={searchFieldId}
        className={classes['input']}
        type="search"
        aria-label="Search jobs by id or payload"
        placeholder="Job id, or text in a payload"
        autoComplete="off"
        spellCheck={false}
        maxLength={500}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <UnstyledButton
        className={classes['hint']}
        onClick={onOpenPalette}
        aria-label={`${paletteKeys}: open the command palette`}
      >
        <Kbd size="xs">{paletteKeys}</Kbd>
      </UnstyledButton>
    </form>
  );
}

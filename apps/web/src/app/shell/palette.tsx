import { Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { KeyboardEvent } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { useCommands } from './palette-commands.ts';
import type { Command } from './palette-commands.ts';
import classes from './palette.module.css';

interface PaletteProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Pages, actions and queues by typing a part of their name. */
export function Palette({ opened, onClose }: PaletteProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size={520}
      yOffset="12vh"
      centered={false}
      attributes={{ content: { 'aria-label': 'Command palette' } }}
    >
      {opened ? <PaletteBody onClose={onClose} /> : null}
    </Modal>
  );
}

function matches(command: Command, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/);
  const label = command.label.toLowerCase();
  return words.every((word) => label.includes(word));
}

function useFindCommands(text: string): Command[] {
  const navigate = useNavigate();
  if (text === '') return [];
  return [
    {
      id: 'find',
      label: `Jobs with “${text}” in their payload`,
      group: 'Find',
      icon: 'search',
      run: () => void navigate({ to: '/jobs', search: { text } }),
    },
  ];
}

function PaletteBody({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const wanted = text.trim();
  const find = useFindCommands(wanted);
  const commands = [...useCommands().filter((command) => matches(command, wanted)), ...find];
  const current = Math.min(selected, commands.length - 1);

  const run = (command: Command | undefined) => {
    onClose();
    command?.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      setSelected((current + move + commands.length) % commands.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      run(commands[current]);
    }
  };

  return (
    <div className={classes['palette']}>
      <input
        className={classes['input']}
        data-autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={commands[current]?.id}
        aria-label="Command"
        placeholder="Go to a page, do something, find jobs…"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setSelected(0);
        }}
      />
      <div id="palette-list" role="listbox" aria-label="Commands" className={classes['list']}>
        {commands.map((command, index) => (
          <Option
            key={command.id}
            command={command}
            selected={index === current}
            onRun={() => {
              run(command);
            }}
          />
        ))}
      </div>
    </div>
  );
}

interface OptionProps {
  readonly command: Command;
  readonly selected: boolean;
  readonly onRun: () => void;
}

function Option({ command, selected, onRun }: OptionProps) {
  return (
    <div
      id={command.id}
      role="option"
      aria-selected={selected}
      className={classes['option']}
      ref={(element) => {
        if (selected) element?.scrollIntoView({ block: 'nearest' });
      }}
      onClick={onRun}
    >
      <Icon name={command.icon} size={16} />
      <span className={classes['label']}>{command.label}</span>
      <span className={classes['group']}>{command.group}</span>
    </div>
  );
}

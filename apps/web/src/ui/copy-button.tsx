import { ActionIcon, Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Icon } from './icon.tsx';

const confirmedForMs = 1_500;

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for the tooltip: "Copy job id". */
  readonly label: string;
}

/** Copies a text; also where the browser gives no clipboard because the page is not served over TLS. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => {
      setCopied(false);
    }, confirmedForMs);
    return () => {
      clearTimeout(timer);
    };
  }, [copied]);

  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={copied ? 'Copied' : label}
        onClick={() => {
          void copyText(text).then(setCopied);
        }}
      >
        <Icon name={copied ? 'check' : 'copy'} size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

async function copyText(text: string): Promise<boolean> {
  // The clipboard is missing on plain http, whatever the type says.
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard !== undefined) {
    try {
      await clipboard.writeText(text);
      return true;
    } catch {
      return copyBySelection(text);
    }
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

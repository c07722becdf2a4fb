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
  // The clipboard is missing on plain http to another host.
  if (!('clipboard' in navigator)) return copyBySelection(text);
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- still the only way without a secure context
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

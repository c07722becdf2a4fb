import { Kbd, Modal, Table } from '@mantine/core';
import { pages } from './pages.ts';

const general = [
  { keys: ['/'], does: 'Search jobs' },
  { keys: ['⌘', 'K'], does: 'Command palette (Ctrl K elsewhere)' },
  { keys: ['p'], does: 'Hold still, or follow again' },
  { keys: ['?'], does: 'This help' },
  { keys: ['Esc'], does: 'Close a dialog' },
];

interface ShortcutHelpProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Every shortcut. */
export function ShortcutHelp({ opened, onClose }: ShortcutHelpProps) {
  const navigation = pages.map((page) => ({
    keys: ['g', page.shortcut],
    does: `Go to ${page.label.toLowerCase()}`,
  }));
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts">
      <Table withRowBorders={false} verticalSpacing={5}>
        <Table.Tbody>
          {[...general, ...navigation].map(({ keys, does }) => (
            <Table.Tr key={does}>
              <Table.Td>{does}</Table.Td>
              <Table.Td ta="end">
                {keys.map((key) => (
                  <Kbd key={key} ms={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}

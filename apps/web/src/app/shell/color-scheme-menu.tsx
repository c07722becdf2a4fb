import { ActionIcon, Menu, Tooltip, useMantineColorScheme } from '@mantine/core';
import { Icon } from '../../ui/icon.tsx';

const schemes = [
  { value: 'light', label: 'Light', icon: 'sun' },
  { value: 'dark', label: 'Dark', icon: 'moon' },
  { value: 'auto', label: 'Like the system', icon: 'auto' },
] as const;

/** Light, dark, or as the system has it. */
export function ColorSchemeMenu() {
  // The library stops transitions by a style tag, which the content security policy forbids.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const current = schemes.find((scheme) => scheme.value === colorScheme) ?? schemes[2];
  return (
    <Menu>
      <Menu.Target>
        <Tooltip label="Colours">
          <ActionIcon variant="subtle" color="gray" aria-label={`Colours: ${current.label}`}>
            <Icon name={current.icon} size={17} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        {schemes.map((scheme) => (
          <Menu.Item
            key={scheme.value}
            leftSection={<Icon name={scheme.icon} size={15} />}
            rightSection={
              scheme.value === colorScheme ? <Icon name="check" size={14} /> : undefined
            }
            onClick={() => {
              setColorScheme(scheme.value);
            }}
          >
            {scheme.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

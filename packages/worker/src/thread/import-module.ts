/** Imports a module in this thread and gives its exports. */
export async function importModule(url: string): Promise<Readonly<Record<string, unknown>>> {
  if (/\.[cm]?tsx?$/.test(new URL(url).pathname)) await letNodeReadTypeScript();
  const module: unknown = await import(url);
  return { ...(module as object) };
}

/** The user's, if they have it: not a dependency of ours. */
const loader = 'tsx/esm/api';
let isReady = Boolean(Reflect.get(process.features, 'typescript'));

/** The loader tsx, with which a process may have been started, does nothing in threads by itself. */
async function letNodeReadTypeScript(): Promise<void> {
  if (isReady) return;
  isReady = true;
  try {
    const tsx: unknown = await import(loader);
    // The package's documented interface.
    (tsx as { readonly register: () => unknown }).register();
  } catch {
    // Without tsx, Node itself says that it cannot read the module.
  }
}

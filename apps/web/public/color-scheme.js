(function () {
  let stored;
  try {
    stored = localStorage.getItem('holdfast-color-scheme');
  } catch {
    stored = null;
  }
  const dark =
    stored === 'dark' || (stored !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();

// Sets the theme that the reader chose before the first paint. Must match theme.ts.
try {
  const theme = localStorage.getItem('vedette-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // The storage may be blocked: then the theme follows the system.
}

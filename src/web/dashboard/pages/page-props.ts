/** What every page gets. In a file of its own: index.ts imports the pages. */
export interface PageProps {
  /** The named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

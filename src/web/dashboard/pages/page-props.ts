/** The properties of every page. In a separate file, because index.ts imports the pages. */
export interface PageProps {
  /** The named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

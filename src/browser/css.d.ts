/** The build replaces the import of a stylesheet with its text. */
declare module '*.css' {
  const text: string;
  export default text;
}

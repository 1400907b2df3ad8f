/** The build puts the text of a stylesheet into the file that imports it. */
declare module '*.css' {
  const text: string;
  export default text;
}

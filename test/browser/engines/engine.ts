/** The size of the visible page in CSS pixels. */
export interface View {
  readonly width: number;
  readonly height: number;
}

export type Key = 'Tab' | 'Enter' | 'Escape' | ' ';

/** A page in any engine, as far as a visitor uses it. */
export interface EnginePage {
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Calls a function without outer variables in the page. A promise is awaited. */
  evaluate<Result>(read: (() => Result | Promise<Result>) | string): Promise<Result>;
  /** Clicks at a point of the visible page. */
  click(x: number, y: number): Promise<void>;
  press(key: Key): Promise<void>;
  /** The visible page as PNG in base64. */
  screenshot(): Promise<string>;
  /** Another tab of the same visitor. */
  openTab(): Promise<EnginePage>;
}

/** A running browser. */
export interface Engine {
  /** The page of a new visitor, without cookies and storage of other visitors. */
  visit(view: View): Promise<EnginePage>;
  close(): Promise<void>;
}

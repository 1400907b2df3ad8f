import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/network/nginx.js';
import type { Engine, EnginePage, Key, View } from './engine.js';
import { miniBrowserPath } from './installed.mjs';

/** WebKitGTK through WebDriver. Its driver has one session, so each visitor has a driver of its own. */
export async function startWebKit(): Promise<Engine> {
  const screen = await startScreen();
  const drivers: Driver[] = [];
  return {
    visit: async (view) => {
      for (const driver of drivers.splice(0)) await driver.end();
      const driver = await Driver.start(screen.name);
      drivers.push(driver);
      return driver.firstPage(view);
    },
    close: async () => {
      for (const driver of drivers.splice(0)) await driver.end();
      await end(screen.process);
    },
  };
}

/** A screen in memory. Xvfb chooses a free name. */
async function startScreen(): Promise<{ name: string; process: ChildProcess }> {
  const args = ['-displayfd', '3', '-screen', '0', '1400x1100x24', '-nolisten', 'tcp'];
  const process = spawn('Xvfb', args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const [line] = await once(process.stdio[3] as NodeJS.ReadableStream, 'data');
  return { name: `:${String(line).trim()}`, process };
}

async function end(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const ended = once(process, 'exit');
  process.kill('SIGTERM');
  await ended;
}

/** The keys of WebDriver (section 17.4.2 of its specification). */
const keys: Record<Key, string> = { Tab: '\uE004', Enter: '\uE007', Escape: '\uE00C', ' ': ' ' };

type Rect = { readonly width: number; readonly height: number };

/** Only a command that hangs takes this long, even on a busy machine. */
const commandMs = 60_000;

class Driver {
  readonly #process: ChildProcess;
  readonly #url: string;
  #session = '';

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.#url = url;
  }

  static async start(display: string): Promise<Driver> {
    const port = await freePort();
    const env = {
      ...process.env,
      DISPLAY: display,
      LIBGL_ALWAYS_SOFTWARE: '1',
      // Root cannot use the sandbox, as in containers. All pages are ours.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    };
    const driver = new Driver(
      spawn('WebKitWebDriver', [`--port=${port}`], { env, stdio: 'ignore' }),
      `http://127.0.0.1:${port}`,
    );
    await eventually('the driver of WebKit answers', async () => {
      await driver.#send('GET', '/status');
    });
    const options = { binary: miniBrowserPath(), args: ['--automation'] };
    const { sessionId } = (await driver.#send('POST', '/session', {
      capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } },
    })) as { sessionId: string };
    driver.#session = `/session/${sessionId}`;
    return driver;
  }

  async firstPage(view: View): Promise<EnginePage> {
    const page = this.#page((await this.#call('GET', '/window')) as string);
    // The window is larger than the page by its toolbar. It has a least width of about 450 pixels.
    await this.#call('POST', '/window/rect', { ...view });
    const [window, inner] = [
      (await this.#call('GET', '/window/rect')) as Rect,
      await page.evaluate<Rect>('({ width: innerWidth, height: innerHeight })'),
    ];
    await this.#call('POST', '/window/rect', {
      width: window.width + view.width - inner.width,
      height: window.height + view.height - inner.height,
    });
    return page;
  }

  async end(): Promise<void> {
    await this.#call('DELETE', '').catch(() => undefined);
    await end(this.#process);
  }

  #page(handle: string): EnginePage {
    const call = async (method: string, path: string, body?: object): Promise<unknown> => {
      await this.#call('POST', '/window', { handle });
      return this.#call(method, path, body);
    };
    const act = async (actions: object): Promise<void> => void (await call('POST', '/actions', { actions: [actions] }));
    return {
      goto: async (url) => void (await call('POST', '/url', { url })),
      reload: async () => void (await call('POST', '/refresh', {})),
      evaluate: async <Result>(read: (() => Result | Promise<Result>) | string) => {
        const value = typeof read === 'string' ? read : `(${read})()`;
        const script = `const done = arguments[0]; Promise.resolve(${value}).then(done);`;
        return (await call('POST', '/execute/async', { script, args: [] })) as Result;
      },
      click: (x, y) => act({ type: 'pointer', id: 'mouse', actions: pointerClick(x, y) }),
      press: (key) => act({ type: 'key', id: 'keyboard', actions: keyPress(keys[key]) }),
      screenshot: async () => (await call('GET', '/screenshot')) as string,
      openTab: async () => {
        // Clicks do not reach a tab in the background, so it gets a window.
        const tab = (await call('POST', '/window/new', { type: 'window' })) as { handle: string };
        return this.#page(tab.handle);
      },
    };
  }

  #call(method: string, path: string, body?: object): Promise<unknown> {
    return this.#send(method, this.#session + path, body);
  }

  async #send(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(this.#url + path, {
      method,
      signal: AbortSignal.timeout(commandMs),
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }).catch((cause) => {
      throw new Error(`WebKit did not answer ${method} ${path}`, { cause });
    });
    const { value } = (await response.json()) as { value: { error?: string; message?: string } | null };
    if (value?.error) throw new Error(`WebKit: ${value.error}: ${value.message}`);
    return value;
  }
}

const pointerClick = (x: number, y: number): object[] => [
  { type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: 0 },
  { type: 'pointerDown', button: 0 },
  { type: 'pointerUp', button: 0 },
];

const keyPress = (value: string): object[] => [
  { type: 'keyDown', value },
  { type: 'keyUp', value },
];

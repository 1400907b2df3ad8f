import { make } from './make.js';
import { qrModules } from './qr-modules.js';

/** Modules of white on each side, which scanners need (ISO 18004). */
const quietZone = 4;

/** Its width in CSS pixels, at most. */
const maxWidth = 250;

/** A QR code, dark on white in every theme, drawn as one path. */
export function qrCode(text: string): SVGElement {
  const rows = qrModules(text);
  const size = rows.length + 2 * quietZone;
  let path = '';
  rows.forEach((row, y) => {
    row.forEach((dark, x) => {
      if (dark) path += `M${x + quietZone} ${y + quietZone}h1v1h-1z`;
    });
  });
  // A module is as wide as whole pixels of the screen: equally large ones scan best and look best.
  const scale = Math.max(1, Math.floor((maxWidth * devicePixelRatio) / size)) / devicePixelRatio;
  return make(
    'svg',
    { viewBox: `0 0 ${size} ${size}`, width: size * scale, height: size * scale, 'shape-rendering': 'crispEdges' },
    make('path', { d: path }),
  );
}

import { correction, generate } from 'lean-qr/nano';
import { svg } from './make.js';

/** Modules of white on each side, which scanners need (ISO 18004). */
const quietZone = 4;

/** Its width in CSS pixels, at most. */
const maxWidth = 250;

/** A QR code, dark on white in every theme, drawn as one path. */
export function qrCode(text: string): SVGElement {
  const code = generate(text, { minCorrectionLevel: correction.M });
  const size = code.size + 2 * quietZone;
  let path = '';
  for (let y = 0; y < code.size; y += 1) {
    for (let x = 0; x < code.size; x += 1) {
      const start = x;
      while (code.get(x, y)) x += 1;
      if (x > start) path += `M${start + quietZone} ${y + quietZone}h${x - start}v1h${start - x}z`;
    }
  }
  // A module is as wide as whole pixels of the screen: equally large ones scan best and look best.
  const scale = Math.max(1, Math.floor((maxWidth * devicePixelRatio) / size)) / devicePixelRatio;
  return svg(
    'svg',
    { viewBox: `0 0 ${size} ${size}`, width: size * scale, height: size * scale, 'shape-rendering': 'crispEdges' },
    svg('path', { d: `M0 0h${size}v${size}H0z`, fill: '#fff' }),
    svg('path', { d: path, fill: '#000' }),
  );
}

/** The terminal's codes for the few styles in use. */
const STYLES = {
  bold: [1, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  gray: [90, 39],
} as const;

export type Paint = (style: keyof typeof STYLES, text: string) => string;

export function painter(colour: boolean): Paint {
  return (style, text) => (colour ? `\u001b[${STYLES[style][0]}m${text}\u001b[${STYLES[style][1]}m` : text);
}

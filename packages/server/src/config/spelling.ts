/** The spellings of one option: `dataDir` in code, `data_dir` in the file, CARILLON_DATA_DIR, --data-dir. */
export const fileKey = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const envName = (name: string): string => `CARILLON_${fileKey(name).toUpperCase()}`;

export const flagName = (name: string): string => `--${fileKey(name).replaceAll("_", "-")}`;

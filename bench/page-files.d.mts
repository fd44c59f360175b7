export const PAGE: string;
export const NETWORK: string;
export function pageFiles(): string[];
export function closure(entry: string, found?: Set<string>): Set<string>;
export function codeBytes(): number;
export function assetBytes(): { core: number; network: number; runtime: number };

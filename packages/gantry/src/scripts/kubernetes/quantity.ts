import { GantryError } from '../../kernel/errors.ts';

const units: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/** Memory as Kubernetes writes it. */
export const memoryQuantity: RegExp = /^(\d+)(k|M|G|Ki|Mi|Gi)?$/;

/** Bytes of a quantity such as `256Mi`. @throws {GantryError} `config_invalid` for anything else. */
export const quantityBytes = (text: string): number => {
  const [, number, unit = ''] = memoryQuantity.exec(text) ?? [];
  if (number !== undefined) return Number(number) * (units[unit] ?? 1);
  throw new GantryError('config_invalid', `"${text}" is no amount of memory; write it as "256Mi" or "1Gi".`);
};

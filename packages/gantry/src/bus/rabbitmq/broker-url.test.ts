import { describe, expect, it } from 'vitest';
import { isBrokerUrl, shownAddress } from './broker-url.ts';

describe('shownAddress', () => {
  it.each([
    ['amqp://mq', 'amqp://mq'],
    ['amqp://user:secret@mq:5672/', 'amqp://mq:5672'],
    ['amqps://us%40er:s%2Fcret@mq.example:5671/team?heartbeat=10', 'amqps://mq.example:5671/team'],
    ['amqp://[::1]:5672', 'amqp://[::1]:5672'],
  ])('shows %s as %s', (url, shown) => {
    expect(isBrokerUrl(url)).toBe(true);
    expect(shownAddress(url)).toBe(shown);
  });

  it.each(['', 'mq:5672', 'http://user:secret@mq', 'amqp://', 'amqp://user:sec%ret@mq', 'amqp://mq/%zz'])(
    'refuses %j without repeating it',
    (url) => {
      expect(isBrokerUrl(url)).toBe(false);
      const problem = ((): unknown => {
        try {
          return shownAddress(url);
        } catch (error) {
          return error;
        }
      })();
      expect(problem).toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining('amqp://user:password@'),
      });
      expect(String(problem)).not.toContain('sec');
    },
  );
});

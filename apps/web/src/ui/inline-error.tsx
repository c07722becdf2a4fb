import { describeError } from '../api/describe-error.ts';
import { Icon } from './icon.tsx';
import classes from './inline-error.module.css';

/** A refused request inside a form: its sentence, every field that was wrong, and the request's id. */
export function InlineError({ error }: { readonly error: unknown }) {
  if (error === undefined || error === null) return null;
  const described = describeError(error);
  return (
    <div className={classes['box']} role="alert">
      <Icon name="warning" size={16} />
      <div>
        <strong>{described.title}</strong>
        <p>{described.detail}</p>
        {described.items.length === 0 ? null : (
          <ul>
            {described.items.map((item) => (
              <li key={`${item.pointer} ${item.detail}`}>
                <code>{item.pointer}</code> {item.detail}
              </li>
            ))}
          </ul>
        )}
        {described.requestId === undefined ? null : (
          <p className={classes['request']}>Request {described.requestId}</p>
        )}
      </div>
    </div>
  );
}

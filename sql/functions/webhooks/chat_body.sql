-- A text and a link as a chat takes them: the body of a request to an incoming webhook of Slack, or of Microsoft Teams. Nothing in the
-- text is markup there. In Slack's, & < > are written as it documents, so that <!channel> is no mention. In Teams' it is a TextRun, which
-- knows no Markdown, and not a TextBlock: whose escapes some of the clients show. `url` may be null: then there is no link.
-- Raises nothing, locks nothing.
create or replace function svc.chat_body(format text, said text, url text)
returns json
language sql
-- Rendering JSON is only stable.
stable
parallel safe
set search_path = ''
return case chat_body.format
  when 'slack' then json_build_object(
    'text', concat(
      replace(replace(replace(chat_body.said, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'),
      E'\n<' || chat_body.url || '|Open in the console>'
    )
  )
  when 'teams' then json_build_object(
    'type', 'message',
    'attachments', json_build_array(
      json_build_object(
        'contentType', 'application/vnd.microsoft.card.adaptive',
        'contentUrl', null,
        'content', json_build_object(
          '$schema', 'http://adaptivecards.io/schemas/adaptive-card.json',
          'type', 'AdaptiveCard',
          'version', '1.4',
          'body', json_build_array(
            json_build_object(
              'type', 'RichTextBlock', 'inlines', json_build_array(json_build_object('type', 'TextRun', 'text', chat_body.said))
            )
          ),
          'actions', case
            when chat_body.url is null then json_build_array()
            else json_build_array(
              json_build_object('type', 'Action.OpenUrl', 'title', 'Open in the console', 'url', chat_body.url)
            )
          end
        )
      )
    )
  )
end;

comment on function svc.chat_body(text, text, text) is 'A text and a link as Slack or Microsoft Teams takes them.';

/** The words and phrases by which a credential is asked for. Spaces of phrases may be missing in a text; `^` and `$` are edges of words. */

/** Words of names and texts of fields. */
export const credentialWords: readonly string[] = words(
  'password passwords passwd pwd pwds pswd psw kubeconfig netrc passcode passcodes passphrase passphrases passkey passkeys userpassword secret secrets token',
  'credential credentials apikey privatekey creditcard ssn cvv cvc otp otps totp hotp mfa puk puks jwt jwts bearer auth',
  'accesstoken iban seedphrase mnemonic mnemonics pw passw passwrd psswrd pword mypwd ccnum',
  // Other languages in Latin letters, without their accents.
  'passwort passworter kennwort kennworter losungswort geheimzahl geheimnummer einmalpasswort einmalkennwort zugangsdaten kartennummer kontonummer contrasena contrasenas mdp motdepasse',
  'senha senhas wachtwoord wachtwoorden haslo hasla sifre sifreniz sifresi parola parolaniz',
);

/** Phrases that count wherever they stand. */
export const credentialPhrases: readonly string[] = phrases(
  'api key,private key,ssh key,secret key,access key,signing key,encryption key,decryption key,master key,security key,storage key,account key,recovery key,wallet key',
  'client secret,shared secret,connection string,social security,credit card,card number,debit card,security code,account number,routing number,card verification,verification value',
  'pass word,pass code,pass phrase,secret phrase,seed phrase,recovery phrase,backup phrase,mnemonic phrase,seed words,recovery words',
  'verification code,login code,recovery code,backup code,auth code,authorization code,authentication code,authenticator code,mfa code,access code,unlock code,digit code,two factor',
  'access token,refresh token,session token,auth token,api token,bearer token,session cookie,auth cookie,authorization header',
  'authenticator app,^id rsa$,^id ed25519$,^id ecdsa$',
  '^cc num,^(?:openai|anthropic|aws|azure|google|github|gitlab|stripe) key',
  '^pin code,^sms code,^text message code,^tan code,^puk code,^otp code,^id token$,^user pass$,^db pass$,^root pass$,^1 time code,^2 step code,^card no$,^card pan$,^github pat$',
  // Other languages in Latin letters.
  'mot de passe,numero de carte,numero de tarjeta,numero de cartao,numero della carta,code secret$,code confidentiel,code de verification,phrase secrete,clave secreta,clave de acceso,clave privada,codigo secreto,codigo de verificacion,codigo de seguridad,codigos de seguridad,frase semilla',
  'codigo de verificacao,codigo de seguranca,palavra passe,palavra chave secreta,chave de acesso,codice segreto,codice di verifica,codice di sicurezza,parola d ordine,chiave segreta',
  'geheimer code,geheimcode,einmalcode,bestatigungscode,zugangscode,sicherheitscode,kreditkarte,toegangscode,geheime code,beveiligingscode',
  'kod pin,tajny kod,kod dostepu,kod weryfikacyjny,gizli kod,dogrulama kodu,guvenlik kodu,tek kullanimlik',
);

/** In scripts whose words are not told apart here, or have endings. */
export const credentialStems: readonly string[] = words(
  'парол пин-код пинкод пін-код пінкод секретныйкод секретнийкод кодподтверждения кодпідтвердження кодовоеслово кодовеслово одноразовыйкод одноразовийкод',
  'パスワード 暗証番号 パスコード パスフレーズ 合言葉 認証コード 確認コード シークレットコード ピンコード 秘密鍵',
  '密码 密碼 口令 验证码 驗證碼 密钥 金鑰 私钥 助记词 動態碼',
  '비밀번호 패스워드 암호 인증번호 인증코드 핀번호 비밀코드',
  'كلمةالمرور كلمةمرور كلمةالسر الرقمالسري رمزسري الرمزالسري رمزالتحقق رمزالمرور',
  'पासवर्ड कूटशब्द गुप्तकोड ओटीपी सत्यापनकोड पिननंबर',
);

/** Whole words in such scripts. */
export const foreignWords: readonly string[] = words('пин пін пинкод');

/** Words that say too little within a sentence to a person. */
export const weakWords: ReadonlySet<string> = new Set(words('secret secrets auth bearer mfa'));

/** Words that are all where they are the whole name or title, and nothing within a longer text. */
export const wholeWords: readonly string[] = words('pass clave cookie cookies pin pins tan tans पिन');

/**
 * PIN, TAN and "clave" are words of other things and other languages, too. Within a text they count beside a code or a number, and behind
 * words that say whose they are.
 */
export const shortWords: readonly string[] = phrases(
  '(?:pin|tan) (?:codes?|kode|kod|numbers?|nummern?|nr|no)$,(?:code|codigo|codice|kode|kod|number|numero|nummer) (?:pin|tan)$',
  '(?:your|my|the|user|admin|card|sim|atm|bank|account|debit|credit|mobile|voicemail|wallet|phone|device|unlock|security|login|personal) (?:s )?(?:pin|tan)$',
  '(?:new|old|current|valid|numeric|digit|enter|type|input|confirm|repeat|(?:choose|set|create|enter|type) (?:a )?) ?(?:pin|tan)$',
  '(?:pin|tan) (?:please|here|eingeben|eintippen)$,pin [0-9]+ digits?$,pin (?:of|for|from) (?:your|my|the) (?:card|account|bank|sim|phone|device)$',
  '(?:ihre|ihren|deine|deinen|votre|seu|tuo|uw) (?:pin|tan)$,(?:su|tu|nueva) (?:pin|clave)$',
  '(?:introduzca|introduce|ingrese|escriba|digite) (?:la |el )?(?:pin|clave)$',
);

/** Words by which a sentence tells its reader to hand something over. */
export const givingWords: readonly string[] = words(
  'enter type provide give paste input insert tell send supply fill write submit share reply answer put copy retype repeat hand',
  'ingrese introduce introduzca escriba saisissez entrez geben inserisci inserire digite insira voer podaj wpisz girin giriniz',
);

/** Words by which it may. */
export const wishingWords: readonly string[] = words(
  'your yours need needs want wants require requires required please kindly confirm verify what which use set choose select pick let repeated',
  'tu su votre ton ihr ihre dein deine bitte tuo tua sua seu uw je twoje lutfen',
);

function words(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '));
}

function phrases(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(','));
}

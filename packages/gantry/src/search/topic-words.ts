/** Subjects, each with words whose mention suggests it: a request for a song is met by a tool for music. */
export const topicWords: Readonly<Record<string, string>> = {
  'weather forecast':
    'rain snow sunny cloudy storm wind windy humidity humid temperature umbrella celsius fahrenheit precipitation',
  temperature: 'celsius fahrenheit degree',
  'unit convert conversion':
    'ounce pound kilogram gram liter litre gallon cup tablespoon teaspoon meter metre kilometer mile inch foot feet yard acre',
  'currency exchange convert': 'dollar euro yen pound rupee yuan peso franc usd eur gbp jpy inr cny',
  'finance financial market':
    'stock share bitcoin crypto cryptocurrency ethereum dividend portfolio invest earning revenue equity bond fund trading trader nasdaq dow etf price asset token bank economy economic inflation',
  'company business': 'startup ceo revenue corporation founder headquarters employee enterprise industry firm',
  music: 'song album artist playlist lyric singer band melody concert chord guitar piano spotify track genre rapper',
  'movie film': 'actor actress director cinema imdb netflix theater trailer',
  video: 'youtube clip footage movie vimeo stream',
  'image photo': 'picture logo wallpaper portrait gif png jpg meme illustration poster',
  book: 'novel author library chapter fiction read reading isbn bestseller',
  'research paper academic': 'scholar scientific science literature journal study citation abstract publication thesis',
  'news article': 'headline journalist press breaking current event politics politician election newspaper',
  sport: 'football soccer basketball baseball tennis nba nfl cricket golf hockey league team player coach championship',
  game: 'chess puzzle player multiplayer console xbox playstation nintendo steam gamer sudoku poker quest',
  'travel trip':
    'flight hotel vacation tour tourist attraction destination itinerary sightseeing visit airbnb cruise beach resort abroad holiday passport visa accommodation rental',
  hotel: 'room suite night checkin airbnb motel',
  'flight airline': 'airport plane aircraft boarding layover depart',
  'restaurant food':
    'dinner lunch breakfast brunch pizza sushi burger dish cuisine menu chef dine eat eating cafe italian chinese vegan delivery',
  recipe: 'cook cooking bake ingredient dish meal cuisine dessert soup chicken pasta cookie cake dinner',
  'diet nutrition health': 'calorie protein vitamin carb fat weight keto vegan vegetarian meal nutrient',
  'fitness exercise health': 'workout gym yoga muscle running jog steps cardio training',
  'health medical':
    'doctor symptom disease illness patient hospital medicine pain fever therapy clinic diagnosis sick anxiety depression stress sleep',
  'shopping product':
    'buy purchase store brand cheap gadget laptop shoes dress clothes clothing furniture electronics phone headphones price cart amazon ebay sneaker jacket wear fashion cosmetic makeup',
  'discount coupon': 'cheap deal sale voucher promo bargain affordable save',
  gift: 'birthday anniversary christmas present wedding valentine',
  'house property':
    'apartment condo villa bedroom bathroom tenant landlord rent rental mortgage estate realtor housing neighborhood buy',
  job: 'career resume interview hire hiring salary employment recruiter candidate vacancy internship work',
  'law legal': 'lawyer attorney court judge lawsuit contract statute crime criminal sue plaintiff divorce',
  'course learn education':
    'teach teacher student class lesson tutorial university college school study exam training learning skill degree lecture curriculum',
  'language translate':
    'english spanish french german chinese japanese korean italian portuguese russian arabic hindi phrase grammar',
  'write text': 'essay blog article story poem email letter paragraph content copy draft',
  'email message': 'inbox gmail outlook reply send newsletter',
  'calendar event schedule':
    'meeting appointment monday tuesday wednesday thursday friday saturday sunday tomorrow weekend reschedule',
  'note memory': 'remember save store remind recall',
  'code developer':
    'python javascript java programming function algorithm bug compile typescript html css debug script software rust',
  'github repository': 'git commit pull branch merge project open-source opensource code',
  'web search': 'google bing internet online browse',
  website: 'domain webpage html seo traffic hosting blog',
  marketing:
    'seo advertisement campaign ad ads advertising audience traffic keyword promotion brand competitor rank ranking',
  'map location': 'address street route navigate direction coordinate latitude longitude nearby city',
  'car vehicle': 'engine drive driver dealer suv sedan electric truck tesla toyota ev parking',
  tax: 'income deduction irs refund',
  'loan credit': 'mortgage repayment borrow interest debt lender installment',
  'astrology horoscope':
    'zodiac sign aries taurus gemini leo virgo libra scorpio sagittarius capricorn aquarius pisces tarot',
  'space astronomy': 'nasa planet mars moon galaxy star telescope rocket satellite universe astronaut',
  'plant garden': 'flower tree soil houseplant seed vegetable water grow',
  'animal pet': 'dog cat puppy kitten bird fish vet breed',
  history: 'war century ancient empire king revolution president treaty battle medieval',
  'math calculate':
    'equation algebra integral derivative sum multiply divide square root percentage fraction add subtract',
  probability: 'dice coin card odds chance draw',
  'chart diagram': 'graph plot visualize histogram axis flowchart',
  'data analysis': 'dataset csv spreadsheet excel statistic correlation regression',
  'audio speech': 'voice podcast listen sound transcribe transcript microphone record',
  'file document': 'pdf docx txt folder spreadsheet page',
  'social media': 'twitter facebook instagram tiktok linkedin reddit tweet post follower hashtag influencer',
  art: 'painting museum artist sculpture gallery exhibition drawing',
};

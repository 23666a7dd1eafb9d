/** Groups of words that tools and requests use for the same thing; each word stands for every other of its group. */
export const synonymGroups: readonly (readonly string[])[] = `
get fetch retrieve read obtain load lookup access
km kilometer kilometre
cm centimeter centimetre
mm millimeter millimetre
mi mile
ft foot feet
kg kilogram kilo
lb pound
oz ounce
ml milliliter millilitre
mph kmh speed
min minute
hr hour
sec second
kb mb gb size
usd dollar
eur euro
gbp sterling pound
jpy yen
cny yuan
inr rupee
find search query lookup locate discover browse
list enumerate index catalog
create make add new generate build insert compose
delete remove erase clear drop destroy discard
update edit modify change alter set adjust amend
send deliver dispatch forward transmit submit
start begin launch run execute trigger open
stop end cancel abort terminate halt close
book reserve reservation booking schedule
buy purchase order shop acquire
sell list vend
pay payment charge transfer remit
calculate compute determine evaluate work solve
estimate predict forecast project prediction
convert conversion transform change translate exchange
compare comparison versus difference contrast
check verify validate confirm test inspect
analyze analyse analysis examine assess evaluate review inspect
summarize summary summarise condense digest abstract recap
translate translation interpret localize
recommend suggest recommendation suggestion propose advise advice idea tip
explain describe clarify tell
download save export fetch
upload import attach
share post publish tweet
copy duplicate clone
move rename relocate
merge combine join concatenate concat unite
split divide separate partition
sort order arrange rank
filter select narrow restrict
count number total tally quantity amount
sum add total plus addition
subtract minus difference subtraction
multiply product times multiplication
average mean
max maximum highest largest greatest biggest most top
min minimum lowest smallest least
odds probability chance likelihood
random shuffle roll dice
log record track register
monitor watch observe track follow
remind reminder alert alarm notify notification
sign login authenticate signin logon
invite invitation guest
email mail message inbox
message text sms chat dm
call phone telephone dial
contact person people address
meeting appointment event calendar
task todo reminder chore
note memo notebook jot
remember memory recall store save
file document doc attachment
folder directory path
image picture photo photograph pic
draw paint illustrate sketch drawing
video clip movie footage
movie film cinema
show series tv television
music song track tune
artist singer musician band
book novel title
article paper publication study literature
research study investigate
news headline headlines
website site webpage page web url link
internet web online
picture artwork art painting
weather forecast climate
temperature heat warm cold
rain rainfall precipitation snow
place location spot venue position
city town
country nation
near nearby close around surrounding
route direction path navigation
distance far length
map maps geography
travel trip journey vacation holiday tour
hotel accommodation lodging room stay motel hostel
flight plane airline fly airfare
train rail railway
car vehicle auto automobile
taxi cab ride
ticket pass admission
restaurant dining eatery cafe
food meal dish cuisine
recipe cook cooking dish
drink beverage
diet nutrition calorie
price cost fee rate value
cheap discount deal coupon offer bargain sale promo
product item goods merchandise
shop store market retailer
money cash currency fund
stock share equity
crypto cryptocurrency bitcoin token coin
invest investment portfolio
loan mortgage credit debt lend
interest rate apr
tax income
salary wage pay income
bank account
invoice bill receipt
company business firm corporation organization enterprise
customer client user
employee staff worker
job career employment vacancy position occupation
resume cv
house home property apartment flat real estate
rent rental lease
doctor physician medical
health medical wellness fitness
medicine drug medication
exercise workout training gym
lawyer attorney legal law
lawsuit litigation case suit
law statute legislation regulation
school education learn teach course class lesson tutorial
student pupil learner
quiz test exam
language translation
word vocabulary term dictionary
definition meaning define
grammar spelling proofread
write writing compose draft author
question answer faq ask
code program script software programming
repository repo git github
bug issue ticket defect
database table sql
server host machine
deploy release rollout
password secret credential
user account profile member
group team channel
player athlete
game gaming play
score result point
match fixture game
league tournament championship competition
history historical past
date day time when
today current now latest recent present
schedule timetable agenda
timezone time clock
year annual
convert unit measurement
weight mass
speed velocity fast
size dimension
area surface
chart graph plot diagram visualize visualization
report summary overview
statistic stat metric analytic statistics
rating review score feedback
status state condition
detail information info fact
error exception failure
gift present
plant gardening garden flower
animal pet wildlife
horoscope astrology zodiac
space astronomy star planet
job hiring recruit talent
ad advertisement advertising ads marketing
brand logo
seo keyword ranking
pdf document
speech voice audio sound
podcast episode
joke funny humor
`
  .trim()
  .split('\n')
  .map((line) => line.split(' '));
